CREATE TABLE members (
  member_id INT NOT NULL PRIMARY KEY,
  full_name VARCHAR(80) NOT NULL,
  village VARCHAR(40) COMMENT 'NULL: not known',
  joined_on DATE NOT NULL,
  left_on DATE COMMENT 'NULL while the person is a member',
  mentor_id INT COMMENT 'the member who teaches this one',
  email VARCHAR(80),
  is_certified BOOLEAN COMMENT 'NULL: not known'
) DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin COMMENT = 'People of the cooperative, present and past';

CREATE TABLE yards (
  yard_id INT NOT NULL PRIMARY KEY,
  yard_name VARCHAR(40) NOT NULL UNIQUE,
  landscape VARCHAR(20) NOT NULL,
  altitude_m INT COMMENT 'metres above the sea, NULL: not measured',
  keeper_id INT COMMENT 'the member who looks after the yard',
  opened_on DATE NOT NULL,
  closed_on DATE COMMENT 'NULL while the yard is in use'
) DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin COMMENT = 'Places where hives stand';

CREATE TABLE hives (
  hive_id INT NOT NULL PRIMARY KEY,
  code VARCHAR(10) NOT NULL UNIQUE,
  yard_id INT COMMENT 'NULL: in the store room',
  hive_type VARCHAR(20) NOT NULL,
  installed_on DATE NOT NULL,
  retired_on DATE COMMENT 'NULL while the hive is in service',
  split_from_id INT COMMENT 'the hive whose bees were divided to fill this one'
) DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin COMMENT = 'Every hive ever owned';

CREATE TABLE queens (
  queen_id INT NOT NULL PRIMARY KEY,
  hive_id INT,
  mother_id INT COMMENT 'NULL: mother not known',
  breed VARCHAR(20),
  hatched_on DATE NOT NULL,
  is_clipped BOOLEAN COMMENT 'wing clipped, NULL: not known'
) DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin COMMENT = 'Queen bees and their mothers';

CREATE TABLE inspections (
  inspection_id INT NOT NULL PRIMARY KEY,
  hive_id INT NOT NULL,
  inspector_id INT,
  inspected_at DATETIME NOT NULL,
  brood_frames INT,
  mite_count INT COMMENT 'mites on the board, NULL: not counted',
  temper SMALLINT COMMENT '1 fierce to 5 gentle',
  queen_seen BOOLEAN COMMENT 'NULL: not recorded',
  note TEXT,
  details JSON COMMENT 'document: weather, stores.honey_frames, stores.pollen_frames, pests',
  CHECK (temper BETWEEN 1 AND 5)
) DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin COMMENT = 'Visits to a hive';

CREATE TABLE harvests (
  harvest_id INT NOT NULL PRIMARY KEY,
  hive_id INT NOT NULL,
  harvested_on DATE NOT NULL,
  honey_type VARCHAR(20) COMMENT 'NULL: not labelled',
  kg DECIMAL(6,2) NOT NULL,
  moisture_pct DECIMAL(4,1) COMMENT 'NULL: not measured',
  CHECK (kg > 0)
) DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin COMMENT = 'Honey taken from a hive on a day';

CREATE TABLE scale_readings (
  hive_id INT NOT NULL,
  read_on DATE NOT NULL,
  weight_kg DECIMAL(6,2) NOT NULL,
  PRIMARY KEY (hive_id, read_on)
) DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin COMMENT = 'Weight of hives that stand on a scale, at most once a day';

CREATE TABLE treatments (
  treatment_id INT NOT NULL PRIMARY KEY,
  hive_id INT NOT NULL,
  product VARCHAR(20) NOT NULL,
  started_on DATE NOT NULL,
  ended_on DATE COMMENT 'last day of the treatment, NULL while it runs',
  dose_ml DECIMAL(5,1)
) DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin COMMENT = 'Treatments against mites';
