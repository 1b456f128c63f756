"""python -m dalembert"""

from dalembert.cli import main

if __name__ == "__main__":
    main()
