ALTER TABLE price_changes ADD CONSTRAINT fk_price_changes_product_id FOREIGN KEY (product_id) REFERENCES products (product_id);
ALTER TABLE customers ADD CONSTRAINT fk_customers_referred_by FOREIGN KEY (referred_by) REFERENCES customers (customer_id);
ALTER TABLE orders ADD CONSTRAINT fk_orders_customer_id FOREIGN KEY (customer_id) REFERENCES customers (customer_id);
ALTER TABLE order_lines ADD CONSTRAINT fk_order_lines_order_id FOREIGN KEY (order_id) REFERENCES orders (order_id);
ALTER TABLE order_lines ADD CONSTRAINT fk_order_lines_product_id FOREIGN KEY (product_id) REFERENCES products (product_id);
ALTER TABLE returns ADD CONSTRAINT fk_returns_line FOREIGN KEY (order_id, line_no) REFERENCES order_lines (order_id, line_no);

CREATE INDEX idx_order_lines_product ON order_lines (product_id);
CREATE INDEX idx_orders_customer ON orders (customer_id, ordered_at);

-- As text, since CREATE VIEW must be alone in its batch.
EXEC sp_executesql N'CREATE VIEW order_totals AS
SELECT o.order_id, o.customer_id, o.status, SUM(l.quantity * l.unit_price) AS goods_total
FROM orders o
JOIN order_lines l ON l.order_id = o.order_id
GROUP BY o.order_id, o.customer_id, o.status';
