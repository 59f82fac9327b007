"""What every hardware bench shares."""
