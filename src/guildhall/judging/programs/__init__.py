"""Programs that stand-ins for judges run in their sandbox."""
