"""What agent clients call at their events. Imports neither Typer, pydantic nor mcp."""
