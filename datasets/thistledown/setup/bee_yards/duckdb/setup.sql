CREATE TABLE members (
  member_id INTEGER NOT NULL PRIMARY KEY,
  full_name VARCHAR NOT NULL,
  village VARCHAR,
  joined_on DATE NOT NULL,
  left_on DATE,
  mentor_id INTEGER,
  email VARCHAR,
  is_certified BOOLEAN
);

CREATE TABLE yards (
  yard_id INTEGER NOT NULL PRIMARY KEY,
  yard_name VARCHAR NOT NULL UNIQUE,
  landscape VARCHAR NOT NULL,
  altitude_m INTEGER,
  keeper_id INTEGER,
  opened_on DATE NOT NULL,
  closed_on DATE
);

CREATE TABLE hives (
  hive_id INTEGER NOT NULL PRIMARY KEY,
  code VARCHAR NOT NULL UNIQUE,
  yard_id INTEGER,
  hive_type VARCHAR NOT NULL,
  installed_on DATE NOT NULL,
  retired_on DATE,
  split_from_id INTEGER
);

CREATE TABLE queens (
  queen_id INTEGER NOT NULL PRIMARY KEY,
  hive_id INTEGER,
  mother_id INTEGER,
  breed VARCHAR,
  hatched_on DATE NOT NULL,
  is_clipped BOOLEAN
);

CREATE TABLE inspections (
  inspection_id INTEGER NOT NULL PRIMARY KEY,
  hive_id INTEGER NOT NULL,
  inspector_id INTEGER,
  inspected_at TIMESTAMP NOT NULL,
  brood_frames INTEGER,
  mite_count INTEGER,
  temper SMALLINT,
  queen_seen BOOLEAN,
  note VARCHAR,
  details JSON,
  CHECK (temper BETWEEN 1 AND 5)
);

CREATE TABLE harvests (
  harvest_id INTEGER NOT NULL PRIMARY KEY,
  hive_id INTEGER NOT NULL,
  harvested_on DATE NOT NULL,
  honey_type VARCHAR,
  kg DECIMAL(6,2) NOT NULL,
  moisture_pct DECIMAL(4,1),
  CHECK (kg > 0)
);

CREATE TABLE scale_readings (
  hive_id INTEGER NOT NULL,
  read_on DATE NOT NULL,
  weight_kg DECIMAL(6,2) NOT NULL,
  PRIMARY KEY (hive_id, read_on)
);

CREATE TABLE treatments (
  treatment_id INTEGER NOT NULL PRIMARY KEY,
  hive_id INTEGER NOT NULL,
  product VARCHAR NOT NULL,
  started_on DATE NOT NULL,
  ended_on DATE,
  dose_ml DECIMAL(5,1)
);
