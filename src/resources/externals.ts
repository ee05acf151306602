// Externals: kinds that can only be referenced, neither declared nor listed. Their identifiers are written as they are.

/** One sentence of doc, by the name that attributes refer to. */
export const externals = {
  email_destinations: 'An e-mail address that receives alerts.',
  tenants: 'An organisation that owns devices.',
} as const;
