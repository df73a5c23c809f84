import t from 'tap'
import { CaptureOptions } from '../../../../crds/src/options/catalog.ts'
import type { AllOptions } from '../../../../crds/src/options/contradiction.ts'
import { privateOptionNames } from '../../../../crds/src/options/private.ts'
import { findWarnings, warnings } from '../../../../crds/src/options/warnings.ts'

const cases: { options: AllOptions; found: string[] }[] = [
  { options: {}, found: [] },
  { options: { imageQuality: 10 }, found: ['image_quality has no effect on png'] },
  { options: { imageQuality: 10, format: 'jpeg' }, found: [] },
  { options: { format: 'mp4', imageQuality: 10 }, found: ['image_quality has no effect on mp4, webm and gif'] },
  { options: { compareThreshold: 0 }, found: ['compare_threshold has no effect without compare_to'] },
  { options: { compareThreshold: 0, compareTo: 'scr_1' }, found: [] },
  { options: { compareIgnore: [{ selector: 'p' }] }, found: [] },
  { options: { fullPageMaxHeight: 2_000 }, found: ['full_page_max_height has no effect without full_page'] },
  { options: { fullPageMaxHeight: 2_000, fullPage: false }, found: ['full_page_max_height has no effect without full_page'] },
  { options: { fullPageMaxHeight: 2_000, fullPage: true }, found: [] },
  {
    options: { html: 'a', headers: { a: 'b' } },
    found: ['headers has no effect on html and markdown without html_base_url, unless headers_scope is all'],
  },
  {
    options: { markdown: 'a', basicAuthUsername: 'a', basicAuthPassword: 'b', headersScope: 'all', authorization: 'c' },
    found: ['basic_auth_username has no effect on html and markdown without html_base_url'],
  },
  { options: { html: 'a', htmlBaseUrl: 'https://example.com/', headers: { a: 'b' } }, found: [] },
]

for (const { options, found } of cases) {
  t.test(`findWarnings finds ${found.length} in ${JSON.stringify(options)}`, async (t) => {
    t.strictSame(findWarnings(options), found)
  })
}

t.test('every warning names an existing option', async (t) => {
  t.strictSame(
    warnings.filter(({ option }) => !(option in CaptureOptions.shape || privateOptionNames.includes(option))),
    [],
  )
})

t.test('warnings fit into the record', async (t) => {
  t.strictSame(
    warnings.filter(({ option, reason }) => `${option} has no effect ${reason}`.length >= 240),
    [],
  )
})
