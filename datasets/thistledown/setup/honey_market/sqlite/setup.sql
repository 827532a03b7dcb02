CREATE TABLE products ( -- The range
  product_id INTEGER NOT NULL PRIMARY KEY,
  sku TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL,
  category TEXT NOT NULL,
  jar_grams INTEGER, -- net weight of a jar of honey, NULL for everything else
  price DECIMAL(8,2) NOT NULL, -- list price now
  is_discontinued BOOLEAN NOT NULL,
  CHECK (price >= 0)
);

CREATE TABLE price_changes ( -- List prices over time
  product_id INTEGER NOT NULL REFERENCES products(product_id),
  valid_from DATE NOT NULL, -- first day of this price, it holds until the next row of the product
  price DECIMAL(8,2) NOT NULL,
  PRIMARY KEY (product_id, valid_from)
);

CREATE TABLE customers ( -- Who buys
  customer_id INTEGER NOT NULL PRIMARY KEY,
  name TEXT NOT NULL,
  kind TEXT NOT NULL, -- private, shop or restaurant
  city TEXT,
  email TEXT,
  referred_by INTEGER REFERENCES customers(customer_id) -- the customer who sent this one
);

CREATE TABLE orders ( -- Orders and stall sales
  order_id INTEGER NOT NULL PRIMARY KEY,
  customer_id INTEGER REFERENCES customers(customer_id), -- NULL: a passer-by at the stall
  ordered_at TIMESTAMP NOT NULL,
  status TEXT NOT NULL, -- open, paid, shipped or cancelled
  channel TEXT NOT NULL, -- stall, web or phone
  discount_pct DECIMAL(4,1) -- per cent off the whole order, NULL: none
);

CREATE TABLE order_lines ( -- What was ordered
  order_id INTEGER NOT NULL REFERENCES orders(order_id),
  line_no INTEGER NOT NULL,
  product_id INTEGER NOT NULL REFERENCES products(product_id),
  quantity INTEGER NOT NULL,
  unit_price DECIMAL(8,2) NOT NULL, -- price charged for one piece before the discount
  PRIMARY KEY (order_id, line_no),
  CHECK (quantity > 0)
);

CREATE TABLE returns ( -- Goods that came back
  return_id INTEGER NOT NULL PRIMARY KEY,
  order_id INTEGER NOT NULL,
  line_no INTEGER NOT NULL,
  returned_on DATE NOT NULL,
  quantity INTEGER NOT NULL,
  reason TEXT,
  FOREIGN KEY (order_id, line_no) REFERENCES order_lines(order_id, line_no)
);

CREATE TABLE stall_shifts ( -- Who stood at a market stall
  shift_id INTEGER NOT NULL PRIMARY KEY,
  helper TEXT NOT NULL,
  stall TEXT NOT NULL,
  started_at TIMESTAMP NOT NULL,
  ended_at TIMESTAMP -- NULL: not signed off
);
