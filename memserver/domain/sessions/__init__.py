"""The working memory of one conversation or run: events in, a state folded from them."""
