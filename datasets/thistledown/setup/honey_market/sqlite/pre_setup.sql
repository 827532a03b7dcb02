-- Rows arrive table by table in any order: references hold once all are there.
PRAGMA foreign_keys = OFF;
