"""Parts that know nothing of textures: streams, queues, delay lines."""
