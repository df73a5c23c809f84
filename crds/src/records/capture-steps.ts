import { toSnakeCase } from '../text/snake-case.ts'

/**
 * The steps of a capture, in the order in which the runner executes them. The API server sorts maps by name, so a status does not have this order.
 * A step that runs at one of two places has the first. A test compares the list with the steps of the runner.
 */
export const CAPTURE_STEPS: readonly string[] = [
  ...['browser', 'checkSyntax', 'signIn', 'initScript', 'watchPage', 'holdRequests', 'loadFiles', 'muteMedia', 'listen', 'openMarkup'],
  ...[
    'navigate',
    'checkResponse',
    'noteRedirect',
    'consent',
    'hideUnwanted',
    'zoom',
    'styles',
    'scripts',
    'click',
    'clickAll',
    'hover',
    'pressKey',
  ],
  ...['waitForSelector', 'waitForFunction', 'unfold', 'scroll', 'noteSectionLinks', 'sweep', 'placeWindow', 'seekElement', 'settle'],
  ...[
    'domIdle',
    'delay',
    'reveal',
    'stability',
    'followGrowth',
    'renewEffects',
    'lateImages',
    'conceal',
    'hideLatecomers',
    'checkContent',
    'stillPage',
  ],
  ...[
    'measure',
    'noteFolded',
    'noteWidth',
    'noteCookies',
    'metadata',
    'notePage',
    'files',
    'frame',
    'mask',
    'ignoredElements',
    'screenshot',
    'record',
  ],
  ...['print', 'redact', 'maskedFiles', 'process', 'thumbnail', 'notePicture', 'compare', 'upload'],
]

const PLACES = new Map(CAPTURE_STEPS.map((name, place) => [name, place]))

/** Durations of steps in the order of the capture, by the names of the REST API. Steps of another version come last. */
export const toOrderedSteps = (timings: Readonly<Record<string, number>>): Record<string, number> =>
  Object.fromEntries(
    Object.entries(timings)
      .sort(([a], [b]) => (PLACES.get(a) ?? PLACES.size) - (PLACES.get(b) ?? PLACES.size))
      .map(([name, milliseconds]) => [toSnakeCase(name), milliseconds]),
  )
