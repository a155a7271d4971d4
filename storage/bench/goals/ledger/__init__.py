"""What one node commits, keeps and gives back."""
