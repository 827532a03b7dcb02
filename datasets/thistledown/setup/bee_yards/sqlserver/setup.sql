CREATE TABLE members (
  member_id INT NOT NULL PRIMARY KEY,
  full_name NVARCHAR(80) COLLATE Latin1_General_100_BIN2 NOT NULL,
  village NVARCHAR(40) COLLATE Latin1_General_100_BIN2,
  joined_on DATE NOT NULL,
  left_on DATE,
  mentor_id INT,
  email NVARCHAR(80) COLLATE Latin1_General_100_BIN2,
  is_certified BIT
);

CREATE TABLE yards (
  yard_id INT NOT NULL PRIMARY KEY,
  yard_name NVARCHAR(40) COLLATE Latin1_General_100_BIN2 NOT NULL UNIQUE,
  landscape NVARCHAR(20) COLLATE Latin1_General_100_BIN2 NOT NULL,
  altitude_m INT,
  keeper_id INT,
  opened_on DATE NOT NULL,
  closed_on DATE
);

CREATE TABLE hives (
  hive_id INT NOT NULL PRIMARY KEY,
  code NVARCHAR(10) COLLATE Latin1_General_100_BIN2 NOT NULL UNIQUE,
  yard_id INT,
  hive_type NVARCHAR(20) COLLATE Latin1_General_100_BIN2 NOT NULL,
  installed_on DATE NOT NULL,
  retired_on DATE,
  split_from_id INT
);

CREATE TABLE queens (
  queen_id INT NOT NULL PRIMARY KEY,
  hive_id INT,
  mother_id INT,
  breed NVARCHAR(20) COLLATE Latin1_General_100_BIN2,
  hatched_on DATE NOT NULL,
  is_clipped BIT
);

CREATE TABLE inspections (
  inspection_id INT NOT NULL PRIMARY KEY,
  hive_id INT NOT NULL,
  inspector_id INT,
  inspected_at DATETIME2(0) NOT NULL,
  brood_frames INT,
  mite_count INT,
  temper SMALLINT,
  queen_seen BIT,
  note NVARCHAR(MAX) COLLATE Latin1_General_100_BIN2,
  details NVARCHAR(MAX),
  CHECK (temper BETWEEN 1 AND 5)
);

CREATE TABLE harvests (
  harvest_id INT NOT NULL PRIMARY KEY,
  hive_id INT NOT NULL,
  harvested_on DATE NOT NULL,
  honey_type NVARCHAR(20) COLLATE Latin1_General_100_BIN2,
  kg DECIMAL(6,2) NOT NULL,
  moisture_pct DECIMAL(4,1),
  CHECK (kg > 0)
);

CREATE TABLE scale_readings (
  hive_id INT NOT NULL,
  read_on DATE NOT NULL,
  weight_kg DECIMAL(6,2) NOT NULL,
  PRIMARY KEY (hive_id, read_on)
);

CREATE TABLE treatments (
  treatment_id INT NOT NULL PRIMARY KEY,
  hive_id INT NOT NULL,
  product NVARCHAR(20) COLLATE Latin1_General_100_BIN2 NOT NULL,
  started_on DATE NOT NULL,
  ended_on DATE,
  dose_ml DECIMAL(5,1)
);
