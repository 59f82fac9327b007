"""Parts that a vendor builds better than synthesis does, each with a generic twin."""
