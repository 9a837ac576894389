"""`python -m bot` is `handraise-bot`."""

from bot.cli import main

if __name__ == "__main__":
    main()
