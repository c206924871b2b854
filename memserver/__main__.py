"""`python -m memserver` is the command `memserver`."""

from memserver.app import main

if __name__ == "__main__":
    main()
