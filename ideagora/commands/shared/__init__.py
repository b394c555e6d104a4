"""What commands share: interrupts, estimates and errors of judging, imports while the first call is out."""
