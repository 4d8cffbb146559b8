#!/bin/sh
# Runs a program when the PostgreSQL server is installed; otherwise exits with 77, which CTest shows as skipped.
ls /usr/lib/postgresql/*/bin/postgres >/dev/null 2>&1 || { echo "PostgreSQL is not installed"; exit 77; }
exec "$@"
