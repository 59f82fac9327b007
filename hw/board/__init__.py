"""The unit on a board: host link, session, commands, pins."""
