"""What the streaming loop refuses."""


class StreamError(ValueError):
    """Settings that cannot work or are not safe, or a sample of a tile that is not resident."""
