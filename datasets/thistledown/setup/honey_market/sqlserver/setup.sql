CREATE TABLE products (
  product_id INT NOT NULL PRIMARY KEY,
  sku NVARCHAR(12) COLLATE Latin1_General_100_BIN2 NOT NULL UNIQUE,
  name NVARCHAR(60) COLLATE Latin1_General_100_BIN2 NOT NULL,
  category NVARCHAR(20) COLLATE Latin1_General_100_BIN2 NOT NULL,
  jar_grams INT,
  price DECIMAL(8,2) NOT NULL,
  is_discontinued BIT NOT NULL,
  CHECK (price >= 0)
);

CREATE TABLE price_changes (
  product_id INT NOT NULL,
  valid_from DATE NOT NULL,
  price DECIMAL(8,2) NOT NULL,
  PRIMARY KEY (product_id, valid_from)
);

CREATE TABLE customers (
  customer_id INT NOT NULL PRIMARY KEY,
  name NVARCHAR(60) COLLATE Latin1_General_100_BIN2 NOT NULL,
  kind NVARCHAR(12) COLLATE Latin1_General_100_BIN2 NOT NULL,
  city NVARCHAR(40) COLLATE Latin1_General_100_BIN2,
  email NVARCHAR(80) COLLATE Latin1_General_100_BIN2,
  referred_by INT
);

CREATE TABLE orders (
  order_id INT NOT NULL PRIMARY KEY,
  customer_id INT,
  ordered_at DATETIME2(0) NOT NULL,
  status NVARCHAR(12) COLLATE Latin1_General_100_BIN2 NOT NULL,
  channel NVARCHAR(8) COLLATE Latin1_General_100_BIN2 NOT NULL,
  discount_pct DECIMAL(4,1)
);

CREATE TABLE order_lines (
  order_id INT NOT NULL,
  line_no INT NOT NULL,
  product_id INT NOT NULL,
  quantity INT NOT NULL,
  unit_price DECIMAL(8,2) NOT NULL,
  PRIMARY KEY (order_id, line_no),
  CHECK (quantity > 0)
);

CREATE TABLE returns (
  return_id INT NOT NULL PRIMARY KEY,
  order_id INT NOT NULL,
  line_no INT NOT NULL,
  returned_on DATE NOT NULL,
  quantity INT NOT NULL,
  reason NVARCHAR(40) COLLATE Latin1_General_100_BIN2
);

CREATE TABLE stall_shifts (
  shift_id INT NOT NULL PRIMARY KEY,
  helper NVARCHAR(40) COLLATE Latin1_General_100_BIN2 NOT NULL,
  stall NVARCHAR(40) COLLATE Latin1_General_100_BIN2 NOT NULL,
  started_at DATETIME2(0) NOT NULL,
  ended_at DATETIME2(0)
);
