CREATE TABLE products (
  product_id INTEGER NOT NULL PRIMARY KEY,
  sku VARCHAR NOT NULL UNIQUE,
  name VARCHAR NOT NULL,
  category VARCHAR NOT NULL,
  jar_grams INTEGER,
  price DECIMAL(8,2) NOT NULL,
  is_discontinued BOOLEAN NOT NULL,
  CHECK (price >= 0)
);

CREATE TABLE price_changes (
  product_id INTEGER NOT NULL,
  valid_from DATE NOT NULL,
  price DECIMAL(8,2) NOT NULL,
  PRIMARY KEY (product_id, valid_from)
);

CREATE TABLE customers (
  customer_id INTEGER NOT NULL PRIMARY KEY,
  name VARCHAR NOT NULL,
  kind VARCHAR NOT NULL,
  city VARCHAR,
  email VARCHAR,
  referred_by INTEGER
);

CREATE TABLE orders (
  order_id INTEGER NOT NULL PRIMARY KEY,
  customer_id INTEGER,
  ordered_at TIMESTAMP NOT NULL,
  status VARCHAR NOT NULL,
  channel VARCHAR NOT NULL,
  discount_pct DECIMAL(4,1)
);

CREATE TABLE order_lines (
  order_id INTEGER NOT NULL,
  line_no INTEGER NOT NULL,
  product_id INTEGER NOT NULL,
  quantity INTEGER NOT NULL,
  unit_price DECIMAL(8,2) NOT NULL,
  PRIMARY KEY (order_id, line_no),
  CHECK (quantity > 0)
);

CREATE TABLE returns (
  return_id INTEGER NOT NULL PRIMARY KEY,
  order_id INTEGER NOT NULL,
  line_no INTEGER NOT NULL,
  returned_on DATE NOT NULL,
  quantity INTEGER NOT NULL,
  reason VARCHAR
);

CREATE TABLE stall_shifts (
  shift_id INTEGER NOT NULL PRIMARY KEY,
  helper VARCHAR NOT NULL,
  stall VARCHAR NOT NULL,
  started_at TIMESTAMP NOT NULL,
  ended_at TIMESTAMP
);
