// The roles that this service is known to have. They stand alone: settings rank other roles by them.

/** The lowest first. */
export const roleLadder = [
  'no_access',
  'read_only_user',
  'full_access_user',
  'administrator',
] as const;
