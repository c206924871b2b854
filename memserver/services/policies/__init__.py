"""Policies: registered, proved, served, watched and taken back."""
