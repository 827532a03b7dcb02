ALTER TABLE price_changes ADD CONSTRAINT fk_price_changes_product_id FOREIGN KEY (product_id) REFERENCES products (product_id);
ALTER TABLE customers ADD CONSTRAINT fk_customers_referred_by FOREIGN KEY (referred_by) REFERENCES customers (customer_id);
ALTER TABLE orders ADD CONSTRAINT fk_orders_customer_id FOREIGN KEY (customer_id) REFERENCES customers (customer_id);
ALTER TABLE order_lines ADD CONSTRAINT fk_order_lines_order_id FOREIGN KEY (order_id) REFERENCES orders (order_id);
ALTER TABLE order_lines ADD CONSTRAINT fk_order_lines_product_id FOREIGN KEY (product_id) REFERENCES products (product_id);
ALTER TABLE returns ADD CONSTRAINT fk_returns_line FOREIGN KEY (order_id, line_no) REFERENCES order_lines (order_id, line_no);

CREATE INDEX idx_order_lines_product ON order_lines (product_id);
CREATE INDEX idx_orders_customer ON orders (customer_id, ordered_at);

CREATE VIEW order_totals AS
SELECT o.order_id, o.customer_id, o.status, SUM(l.quantity * l.unit_price) AS goods_total
FROM orders o
JOIN order_lines l ON l.order_id = o.order_id
GROUP BY o.order_id, o.customer_id, o.status;

COMMENT ON TABLE products IS 'The range';
COMMENT ON COLUMN products.jar_grams IS 'net weight of a jar of honey, NULL for everything else';
COMMENT ON COLUMN products.price IS 'list price now';
COMMENT ON TABLE price_changes IS 'List prices over time';
COMMENT ON COLUMN price_changes.valid_from IS 'first day of this price, it holds until the next row of the product';
COMMENT ON TABLE customers IS 'Who buys';
COMMENT ON COLUMN customers.kind IS 'private, shop or restaurant';
COMMENT ON COLUMN customers.referred_by IS 'the customer who sent this one';
COMMENT ON TABLE orders IS 'Orders and stall sales';
COMMENT ON COLUMN orders.customer_id IS 'NULL: a passer-by at the stall';
COMMENT ON COLUMN orders.status IS 'open, paid, shipped or cancelled';
COMMENT ON COLUMN orders.channel IS 'stall, web or phone';
COMMENT ON COLUMN orders.discount_pct IS 'per cent off the whole order, NULL: none';
COMMENT ON TABLE order_lines IS 'What was ordered';
COMMENT ON COLUMN order_lines.unit_price IS 'price charged for one piece before the discount';
COMMENT ON TABLE returns IS 'Goods that came back';
COMMENT ON TABLE stall_shifts IS 'Who stood at a market stall';
COMMENT ON COLUMN stall_shifts.ended_at IS 'NULL: not signed off';
COMMENT ON VIEW order_totals IS 'Value of the goods of each order before discount, orders without lines are absent';
