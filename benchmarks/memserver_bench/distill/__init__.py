"""`memserver-bench distill`: do distilled skills tell what a held-out run did?"""
