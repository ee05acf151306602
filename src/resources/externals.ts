// Externals: kinds that can only be referenced, neither declared nor listed. Their identifiers are written as they are.

/** One sentence of doc, by the name that attributes refer to. */
export const externals = {
  users: 'A person who may hold roles.',
  routers: 'A router; it registers itself.',
  groups: 'Routers of one product that share a configuration.',
  email_destinations: 'An e-mail address that receives alerts.',
  tenants: 'An organisation that owns devices.',
} as const;
