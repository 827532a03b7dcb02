CREATE TABLE members (
  member_id INTEGER NOT NULL PRIMARY KEY,
  full_name VARCHAR(80) NOT NULL,
  village VARCHAR(40),
  joined_on DATE NOT NULL,
  left_on DATE,
  mentor_id INTEGER,
  email VARCHAR(80),
  is_certified BOOLEAN
);

CREATE TABLE yards (
  yard_id INTEGER NOT NULL PRIMARY KEY,
  yard_name VARCHAR(40) NOT NULL UNIQUE,
  landscape VARCHAR(20) NOT NULL,
  altitude_m INTEGER,
  keeper_id INTEGER,
  opened_on DATE NOT NULL,
  closed_on DATE
);

CREATE TABLE hives (
  hive_id INTEGER NOT NULL PRIMARY KEY,
  code VARCHAR(10) NOT NULL UNIQUE,
  yard_id INTEGER,
  hive_type VARCHAR(20) NOT NULL,
  installed_on DATE NOT NULL,
  retired_on DATE,
  split_from_id INTEGER
);

CREATE TABLE queens (
  queen_id INTEGER NOT NULL PRIMARY KEY,
  hive_id INTEGER,
  mother_id INTEGER,
  breed VARCHAR(20),
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
  note TEXT,
  details JSONB,
  CHECK (temper BETWEEN 1 AND 5)
);

CREATE TABLE harvests (
  harvest_id INTEGER NOT NULL PRIMARY KEY,
  hive_id INTEGER NOT NULL,
  harvested_on DATE NOT NULL,
  honey_type VARCHAR(20),
  kg NUMERIC(6,2) NOT NULL,
  moisture_pct NUMERIC(4,1),
  CHECK (kg > 0)
);

CREATE TABLE scale_readings (
  hive_id INTEGER NOT NULL,
  read_on DATE NOT NULL,
  weight_kg NUMERIC(6,2) NOT NULL,
  PRIMARY KEY (hive_id, read_on)
);

CREATE TABLE treatments (
  treatment_id INTEGER NOT NULL PRIMARY KEY,
  hive_id INTEGER NOT NULL,
  product VARCHAR(20) NOT NULL,
  started_on DATE NOT NULL,
  ended_on DATE,
  dose_ml NUMERIC(5,1)
);
