import t from 'tap'
import { screenshotSchedules } from '../../../crds/client/kinds.ts'
import { KubeError } from '../../../crds/client/kube-error.ts'
import { Resource } from '../../../crds/client/resource.ts'
import { comparisonConflicts, scheduleFields } from '../../../crds/src/kinds/screenshot-schedule.ts'
import type { CaptureOptions } from '../../../crds/src/options/catalog.ts'
import { mapConcurrently } from '../../../crds/src/runtime/lists.ts'
import { assertAccepts } from '../../support/accepts.ts'
import { manualPages, readText, yamlBlocksOf } from '../../support/sources/code-blocks.ts'
import { startPlane } from '../client/plane.ts'
import { kubectlOf } from './kubectl.ts'

// The API server checks schedules by the same rules as the programs.

const plane = await startPlane(t)
const schedules = new Resource(plane.connect(t), screenshotSchedules)

/** The message with which the API server refuses a spec; undefined if it accepts it. */
async function refusalOf(spec: Record<string, unknown>): Promise<string | undefined> {
  const object = { metadata: { generateName: 'check-' }, spec: { schedule: '@daily', template: { url: 'https://example.com/' }, ...spec } }
  try {
    await schedules.create(object as never)
    return undefined
  } catch (error) {
    if (error instanceof KubeError && error.status === 422) return error.message
    throw error
  }
}

const expressions = {
  good: [
    ...['* * * * *', '*/30 * * * *', '0 9 * * MON-FRI', '5,10-20/5,50/5 0-23 ? jan,Mar-DEC sun', '59 23 31 12 6', '00 09 01 01 0'],
    ...['0 0 * * */2', '0 0 29 2 *', '0 12 1-1 * *', '7 7 7 7 */7', '@hourly', '@every 1h30m', '@every 90s'],
    // White space, as in crontabs and YAML blocks.
    ...[' 0  0 1 * * ', '0\t9\t*\t*\tMON-FRI', '0 9 * * MON-FRI\n', '\r\n\t*/5 \v*\f* * *\r\n', '0\u00a09\u0085*\u2003*\u3000*'],
    ...['@hourly\n', '\t@every  1h\n'],
  ],
  bad: [
    // The number of fields.
    ...['', '* * * *', '* * * * * *', '* * * *\n', '*\u200b* * * *', 'TZ=UTC * * * * *', 'daily'],
    // Values out of range, and ranges that end before they begin.
    ...['60 * * * *', '* 24 * * *', '* * 0 * *', '* * 32 * *', '* * * 13 *', '* * * 0 *', '* * * * 7', '* * * * 5-07', '* * * * 7,1\n'],
    ...['30-10 * * * *', '* 0-5,9-8 * * *', '* * * DEC-JAN *', '* * * * FRI-TUE', '* * 20-9 * *', '* *\t20-9 * *', '59-58 * * * *'],
    // Forms.
    ...['* 23-2/3 * * *', '1,,2 * * * *', '1-2-3 * * * *', '1/2/3 * * * *', '* * * * 1-FRI', '* * * * Monday'],
    ...['*/0 * * * *', '*/x * * * *', '*/100 * * * *'],
    // Macros and intervals.
    ...['@reboot', '@every 5', '@every 5s\n', '@every 30s', '@every 9000h'],
  ],
}
const zones = {
  good: [
    ...['UTC', 'Europe/Zurich', 'America/Argentina/Buenos_Aires', 'Etc/GMT+5', 'America/Port-au-Prince'],
    ...['US/Pacific', 'GB-Eire', 'W-SU', 'NZ-CHAT'],
  ],
  bad: [
    ...['', 'Local', 'europe/zurich', 'Mars/Olympus', 'Europe/Basel', '+01:00', 'Europe/Zurich '],
    ...['US/PACIFIC', 'GB-EIRE', 'US/Pacific-New', 'SystemV/EST5', 'PST', 'IST', 'ACT'],
  ],
}

for (const [what, cases, specOf, schema] of [
  ['cron expressions', expressions, (schedule: string) => ({ schedule }), scheduleFields.schedule],
  ['time zones', zones, (timeZone: string) => ({ timeZone }), scheduleFields.timeZone],
] as const) {
  t.test(`API server and programs accept and refuse the same ${what}`, async (t) => {
    const texts = [...cases.good, ...cases.bad]
    const refusals = await mapConcurrently(texts, 8, (text) => refusalOf(specOf(text)))
    const stored = texts.filter((_, n) => refusals[n] === undefined)
    t.strictSame(stored, cases.good, 'the API server accepts the good ones')
    assertAccepts(t, (text) => schema.safeParse(text).success, cases.good, cases.bad)
  })
}

t.test('the API server says what is wrong', async (t) => {
  const cases: [spec: Record<string, unknown>, words: RegExp][] = [
    [{ schedule: 'every day' }, /spec.schedule: .*not a cron expression: use five fields/],
    [{ schedule: '0 9 * * 1-7' }, /the day of the week 7 is not valid: use 0 or SUN for Sunday/],
    [{ schedule: '30-10 * * * *' }, /a range ends before it begins: use two ranges/],
    [{ schedule: '@every 5s' }, /the interval of @every must be from 1m to 8784h/],
    [{ timeZone: 'Local' }, /not a time zone: use a name of the IANA database/],
    [{ timeZone: 'Mars/Olympus' }, /Mars\/Olympus/],
    [{ template: { url: 'ftp://example.com/' } }, /spec.template.url/],
    [{ template: { url: 'https://example.com/', options: { delay: -1 } } }, /spec.template.options.delay/],
    [{ spreadSeconds: 86_401 }, /spec.spreadSeconds/],
    [{ concurrencyPolicy: 'Replace' }, /Allow.*Forbid|Forbid.*Allow/],
    [{ comparison: { threshold: 1.1 } }, /spec.comparison.threshold: .*less than or equal to 1/],
    [{ comparison: { threshold: -0.1 } }, /spec.comparison.threshold: .*greater than or equal to 0/],
    [{ comparison: { colorTolerance: 2 } }, /spec.comparison.colorTolerance/],
    [{ comparison: { baseline: 'First' } }, /Previous.*Approved|Approved.*Previous/],
    [{ comparison: { ignore: [{ selector: '#a', x: 1 }] } }, /spec.comparison.ignore\[0\]/],
  ]
  for (const [spec, words] of cases) t.match(await refusalOf(spec), words)
})

t.test('API server and programs refuse the same options beside a comparison', async (t) => {
  const comparison = { ignore: [{ selector: '#clock' }] }
  const refused: CaptureOptions[] = [
    ...[{ format: 'pdf' as const }, { format: 'mp4' as const }, { compareTo: 'scr_6ybsne2r7m8z0q3x5v1c4h9kfd' }],
    ...[{ compareThreshold: 0.1 }, { compareColorTolerance: 0.1 }, { compareAntialiasing: true }, { compareAcceptStatus: ['404'] }],
    { compareIgnore: [{ selector: '#clock' }] },
    ...[{ imageWidth: 100 }, { imageHeight: 100 }, { imageTrim: true }, { imagePadding: 10 }, { imageMaxBytes: 100_000 }],
  ]
  t.equal(refused.length, comparisonConflicts.length + 1)
  for (const options of [{ format: 'webp', fullPage: true } as const, ...refused]) {
    const isGood = !refused.includes(options)
    const template = { url: 'https://example.com/', options }
    const refusal = await refusalOf({ comparison, template })
    const conflict = comparisonConflicts.find(({ holds }) => holds({ comparison, template }))
    t.equal(refusal === undefined, isGood, JSON.stringify(options))
    t.equal(conflict === undefined, isGood, JSON.stringify(options))
    if (conflict) t.match(refusal, conflict.message)
    t.equal(await refusalOf({ template: { ...template, options: { ...options, compareTo: undefined } } }), undefined, 'without comparison')
  }
})

t.test('kubectl applies every manifest of the documentation, and every part of one', async (t) => {
  const kubectl = kubectlOf(plane)
  t.ok((await kubectl(['create', 'namespace', 'tintype'])).isOk)
  let count = 0
  for (const page of manualPages) {
    let whole = ''
    for (const block of yamlBlocksOf(readText(page))) {
      // A part of a spec belongs to the manifest before it.
      const isPart = block.startsWith('spec:\n')
      if (!isPart && !/^apiVersion: (tintype\.dev|v1|rbac\.)/m.test(block)) continue
      if (!isPart) whole = block.replaceAll('namespace: argocd', 'namespace: tintype')
      const manifest = isPart ? whole + block.slice('spec:\n'.length) : whole
      const { isOk, output } = await kubectl(['apply', '--dry-run=server', '--validate=strict', '-f', '-'], manifest)
      t.ok(isOk, `${page}: ${output}\n${manifest}`)
      count += 1
    }
  }
  t.ok(count >= 6, String(count))
})
