"""What people and programs touch. A surface formats answers; everything it knows comes from the memory."""
