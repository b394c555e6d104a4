"""AidanBench: how many different coherent answers a model gives to an open-ended question."""
