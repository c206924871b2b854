"""What people prefer, as their edits of an agent's texts show."""
