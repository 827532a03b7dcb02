CREATE INDEX idx_inspections_hive ON inspections (hive_id, inspected_at);
CREATE INDEX idx_harvests_hive ON harvests (hive_id);

CREATE VIEW hives_in_service AS
SELECT h.hive_id, h.code, h.hive_type, h.installed_on, y.yard_id, y.yard_name
FROM hives h
LEFT JOIN yards y ON y.yard_id = h.yard_id
WHERE h.retired_on IS NULL;

COMMENT ON TABLE members IS 'People of the cooperative, present and past';
COMMENT ON COLUMN members.village IS 'NULL: not known';
COMMENT ON COLUMN members.left_on IS 'NULL while the person is a member';
COMMENT ON COLUMN members.mentor_id IS 'the member who teaches this one';
COMMENT ON COLUMN members.is_certified IS 'NULL: not known';
COMMENT ON TABLE yards IS 'Places where hives stand';
COMMENT ON COLUMN yards.altitude_m IS 'metres above the sea, NULL: not measured';
COMMENT ON COLUMN yards.keeper_id IS 'the member who looks after the yard';
COMMENT ON COLUMN yards.closed_on IS 'NULL while the yard is in use';
COMMENT ON TABLE hives IS 'Every hive ever owned';
COMMENT ON COLUMN hives.yard_id IS 'NULL: in the store room';
COMMENT ON COLUMN hives.retired_on IS 'NULL while the hive is in service';
COMMENT ON COLUMN hives.split_from_id IS 'the hive whose bees were divided to fill this one';
COMMENT ON TABLE queens IS 'Queen bees and their mothers';
COMMENT ON COLUMN queens.mother_id IS 'NULL: mother not known';
COMMENT ON COLUMN queens.is_clipped IS 'wing clipped, NULL: not known';
COMMENT ON TABLE inspections IS 'Visits to a hive';
COMMENT ON COLUMN inspections.mite_count IS 'mites on the board, NULL: not counted';
COMMENT ON COLUMN inspections.temper IS '1 fierce to 5 gentle';
COMMENT ON COLUMN inspections.queen_seen IS 'NULL: not recorded';
COMMENT ON COLUMN inspections.details IS 'document: weather, stores.honey_frames, stores.pollen_frames, pests';
COMMENT ON TABLE harvests IS 'Honey taken from a hive on a day';
COMMENT ON COLUMN harvests.honey_type IS 'NULL: not labelled';
COMMENT ON COLUMN harvests.moisture_pct IS 'NULL: not measured';
COMMENT ON TABLE scale_readings IS 'Weight of hives that stand on a scale, at most once a day';
COMMENT ON TABLE treatments IS 'Treatments against mites';
COMMENT ON COLUMN treatments.ended_on IS 'last day of the treatment, NULL while it runs';
COMMENT ON VIEW hives_in_service IS 'Hives that are not retired, with their yard if they stand in one';
