"""OpenClaw: its workspace, its sessions of both storage generations, its settings. Its files are never written."""
