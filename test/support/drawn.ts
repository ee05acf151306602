// How many cases a property draws: FC_RUNS, in percent of what its test asks for.
const percent = Number(process.env['FC_RUNS'] ?? 100);

export const drawn = (count: number): number => Math.max(1, Math.round((count * percent) / 100));
