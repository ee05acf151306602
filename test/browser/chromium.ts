// A real Chromium for what only a browser can tell. Where there is none the suite fails, in one line that says what to type.
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { chromium, type Browser } from 'playwright-core';

const names = ['chromium', 'chromium-browser', 'google-chrome'];

export async function launch(): Promise<Browser> {
  const places = (process.env['PATH'] ?? '')
    .split(delimiter)
    .flatMap((folder) => names.map((name) => join(folder, name)));
  const executablePath = process.env['CHROMIUM'] ?? places.find(isProgram);
  if (executablePath === undefined)
    throw new Error(
      'NO CHROMIUM: the pages are NOT tested. Install it (apt-get install -y chromium), or name it in the variable CHROMIUM.',
    );
  return chromium.launch({ executablePath });
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
