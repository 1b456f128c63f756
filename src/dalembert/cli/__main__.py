"""python -m dalembert.cli"""

from dalembert.cli import main

if __name__ == "__main__":
    main()
