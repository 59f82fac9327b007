"""The simulator package: golden model, driver layer, front end, runners and command line."""
