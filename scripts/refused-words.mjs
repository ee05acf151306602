// Words that no comment, message or page uses, each with the standard term for the same thing (docs/glossary.md).

const refused = [
  [/\bthe world\b|\bworld has moved\b/i, '“what is live”, “the service”, or “the plan is stale”'],
  [/\bstrangers?\b/i, '“unmanaged”'],
  [/\bcouriers?\b/i, '“HTTP client”'],
  [/\berrands?\b/i, '“operation” or “request”'],
  [/\bworkbench(es)?\b/i, '“context”'],
  [/\bwhat ails\b|\bailments?\b|\bailing\b/i, '“health issue” or “unhealthy”'],
  [/\bwho may do what\b/i, '“access review”'],
  [/\bdeclared anew\b/i, '“declared again”'],
  [/\b(by )?another hand\b/i, '“changed outside of trueup”'],
  [/\bnear-twins?\b|\brivals?\b/i, '“possible duplicate”'],
  [/\bheirs?\b/i, '“adopted object”'],
  [/\bgoes and\b|\b(let|lets|letting) (go|it go|them go)\b/i, '“delete” or “forget”'],
  [/\bbrought in line\b|\bbrings? .{0,20}in line\b/i, '“updated”'],
  [/\brooms?\b|\bcellars?\b/i, '“module” or “space”'],
  [/\bmend(s|ed|ing)?\b/i, '“fix” or “repair”'],
  [/\btroubles?\b/i, '“error” or “failure”'],
  [/\bso (often|many)\b(?! that\b)/i, '“this many”, or name the number: “milliseconds between …”'],
  [/\b(an?|one) (line|row|column|sentence|case|suite|result) an? \w/i, '“one … per …”'],
  [/\ban? (line|row|column|sentence|case|suite|result) each\b/i, '“one … each”'],
  [/\bof (ours|theirs)\b/i, '“of trueup”, or name whose it is'],
  [/\bnobody knows\b/i, '“unknown”'],
  [/\b(by|for|to) who\b/i, 'name the person or program'],
  [/\b(can|may|will|could) (no longer |still )?land\b|\blands\b/i, '“take effect”'],
  [/\baloud\b/i, '“with a warning”'],
  [/\bin the world\b|\bnone of (our|its|their) business\b/i, 'say what it does not do'],
];

/** Each line that has one, with the words to use instead. @param {string} path @param {string} text */
export function refusedWords(path, text) {
  return text.split('\n').flatMap((line, index) =>
    refused.flatMap(([pattern, instead]) => {
      const found = pattern.exec(line);
      return found
        ? [`${path}:${index + 1}:${found.index + 1}: “${found[0]}”: say ${instead}`]
        : [];
    }),
  );
}
