CREATE TABLE members ( -- People of the cooperative, present and past
  member_id INTEGER NOT NULL PRIMARY KEY,
  full_name TEXT NOT NULL,
  village TEXT, -- NULL: not known
  joined_on DATE NOT NULL,
  left_on DATE, -- NULL while the person is a member
  mentor_id INTEGER REFERENCES members(member_id), -- the member who teaches this one
  email TEXT,
  is_certified BOOLEAN -- NULL: not known
);

CREATE TABLE yards ( -- Places where hives stand
  yard_id INTEGER NOT NULL PRIMARY KEY,
  yard_name TEXT NOT NULL UNIQUE,
  landscape TEXT NOT NULL,
  altitude_m INTEGER, -- metres above the sea, NULL: not measured
  keeper_id INTEGER REFERENCES members(member_id), -- the member who looks after the yard
  opened_on DATE NOT NULL,
  closed_on DATE -- NULL while the yard is in use
);

CREATE TABLE hives ( -- Every hive ever owned
  hive_id INTEGER NOT NULL PRIMARY KEY,
  code TEXT NOT NULL UNIQUE,
  yard_id INTEGER REFERENCES yards(yard_id), -- NULL: in the store room
  hive_type TEXT NOT NULL,
  installed_on DATE NOT NULL,
  retired_on DATE, -- NULL while the hive is in service
  split_from_id INTEGER REFERENCES hives(hive_id) -- the hive whose bees were divided to fill this one
);

CREATE TABLE queens ( -- Queen bees and their mothers
  queen_id INTEGER NOT NULL PRIMARY KEY,
  hive_id INTEGER REFERENCES hives(hive_id),
  mother_id INTEGER REFERENCES queens(queen_id), -- NULL: mother not known
  breed TEXT,
  hatched_on DATE NOT NULL,
  is_clipped BOOLEAN -- wing clipped, NULL: not known
);

CREATE TABLE inspections ( -- Visits to a hive
  inspection_id INTEGER NOT NULL PRIMARY KEY,
  hive_id INTEGER NOT NULL REFERENCES hives(hive_id),
  inspector_id INTEGER REFERENCES members(member_id),
  inspected_at TIMESTAMP NOT NULL,
  brood_frames INTEGER,
  mite_count INTEGER, -- mites on the board, NULL: not counted
  temper INTEGER, -- 1 fierce to 5 gentle
  queen_seen BOOLEAN, -- NULL: not recorded
  note TEXT,
  details TEXT, -- document: weather, stores.honey_frames, stores.pollen_frames, pests
  CHECK (temper BETWEEN 1 AND 5)
);

CREATE TABLE harvests ( -- Honey taken from a hive on a day
  harvest_id INTEGER NOT NULL PRIMARY KEY,
  hive_id INTEGER NOT NULL REFERENCES hives(hive_id),
  harvested_on DATE NOT NULL,
  honey_type TEXT, -- NULL: not labelled
  kg DECIMAL(6,2) NOT NULL,
  moisture_pct DECIMAL(4,1), -- NULL: not measured
  CHECK (kg > 0)
);

CREATE TABLE scale_readings ( -- Weight of hives that stand on a scale, at most once a day
  hive_id INTEGER NOT NULL REFERENCES hives(hive_id),
  read_on DATE NOT NULL,
  weight_kg DECIMAL(6,2) NOT NULL,
  PRIMARY KEY (hive_id, read_on)
);

CREATE TABLE treatments ( -- Treatments against mites
  treatment_id INTEGER NOT NULL PRIMARY KEY,
  hive_id INTEGER NOT NULL REFERENCES hives(hive_id),
  product TEXT NOT NULL,
  started_on DATE NOT NULL,
  ended_on DATE, -- last day of the treatment, NULL while it runs
  dose_ml DECIMAL(5,1)
);
