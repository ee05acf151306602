// The known roles of this service. In their own file, because settings rank custom roles by them.

/** The lowest first. */
export const roleLadder = [
  'no_access',
  'read_only_user',
  'full_access_user',
  'administrator',
] as const;
