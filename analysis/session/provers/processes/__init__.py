"""The processes that prove: started, given tasks, watched, ended. Nothing here knows what a task is."""
