CREATE TABLE products (
  product_id INT NOT NULL PRIMARY KEY,
  sku VARCHAR(12) NOT NULL UNIQUE,
  name VARCHAR(60) NOT NULL,
  category VARCHAR(20) NOT NULL,
  jar_grams INT COMMENT 'net weight of a jar of honey, NULL for everything else',
  price DECIMAL(8,2) NOT NULL COMMENT 'list price now',
  is_discontinued BOOLEAN NOT NULL,
  CHECK (price >= 0)
) DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin COMMENT = 'The range';

CREATE TABLE price_changes (
  product_id INT NOT NULL,
  valid_from DATE NOT NULL COMMENT 'first day of this price, it holds until the next row of the product',
  price DECIMAL(8,2) NOT NULL,
  PRIMARY KEY (product_id, valid_from)
) DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin COMMENT = 'List prices over time';

CREATE TABLE customers (
  customer_id INT NOT NULL PRIMARY KEY,
  name VARCHAR(60) NOT NULL,
  kind VARCHAR(12) NOT NULL COMMENT 'private, shop or restaurant',
  city VARCHAR(40),
  email VARCHAR(80),
  referred_by INT COMMENT 'the customer who sent this one'
) DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin COMMENT = 'Who buys';

CREATE TABLE orders (
  order_id INT NOT NULL PRIMARY KEY,
  customer_id INT COMMENT 'NULL: a passer-by at the stall',
  ordered_at DATETIME NOT NULL,
  status VARCHAR(12) NOT NULL COMMENT 'open, paid, shipped or cancelled',
  channel VARCHAR(8) NOT NULL COMMENT 'stall, web or phone',
  discount_pct DECIMAL(4,1) COMMENT 'per cent off the whole order, NULL: none'
) DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin COMMENT = 'Orders and stall sales';

CREATE TABLE order_lines (
  order_id INT NOT NULL,
  line_no INT NOT NULL,
  product_id INT NOT NULL,
  quantity INT NOT NULL,
  unit_price DECIMAL(8,2) NOT NULL COMMENT 'price charged for one piece before the discount',
  PRIMARY KEY (order_id, line_no),
  CHECK (quantity > 0)
) DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin COMMENT = 'What was ordered';

CREATE TABLE returns (
  return_id INT NOT NULL PRIMARY KEY,
  order_id INT NOT NULL,
  line_no INT NOT NULL,
  returned_on DATE NOT NULL,
  quantity INT NOT NULL,
  reason VARCHAR(40)
) DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin COMMENT = 'Goods that came back';

CREATE TABLE stall_shifts (
  shift_id INT NOT NULL PRIMARY KEY,
  helper VARCHAR(40) NOT NULL,
  stall VARCHAR(40) NOT NULL,
  started_at DATETIME NOT NULL,
  ended_at DATETIME COMMENT 'NULL: not signed off'
) DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin COMMENT = 'Who stood at a market stall';
