import sharp from 'sharp'
import t, { type Test } from 'tap'
import { DEFAULT_CONTEXT } from '../../../capture-runner/src/plan/plan.ts'
import { FAMILY_SAMPLES, SAMPLES, type Sample, scriptsPage } from '../../support/attack/scripts-page.ts'
import { startDnsServer } from '../../support/servers/dns-server.ts'
import { servePages } from '../capture-runner/stage/page-server.ts'
import { LOOPBACK_POLICY, openStudio, type Studio } from '../capture-runner/stage/studio.ts'

// The browser uses the image's fonts.conf (capture-runner/fonts) and the same Debian packages, which `npm test` installs.

/** A page with samples only, black on white. */
const plainPage = (samples: readonly Sample[]): string => {
  const rows = samples.map(({ lang, text }) => `<p lang="${lang}">${text}`)
  return `<!doctype html><meta charset="utf-8"><body style="margin:8px;background:#fff;color:#000;font-size:20px">${rows.join('')}`
}

const frameOf = (origin: string): string => `<!doctype html><iframe src="${origin}/serif" width="280" height="80"></iframe>`

const isEmoji = ({ name }: Sample): boolean => name === 'Emoji'
const site = await servePages({
  '/letters': plainPage(SAMPLES.filter((one) => !isEmoji(one))),
  '/emoji': plainPage(SAMPLES.filter(isEmoji)),
  '/serif': '<!doctype html><meta charset="utf-8"><body lang="ja" style="margin:8px;font:20px serif">日本語',
  '/same-site': (_, response) => response.end(frameOf('')),
  '/other-site': (_, response) => response.end(frameOf(site.url('').replace('127.0.0.1', 'localhost'))),
})
const names = await startDnsServer(() => ({ addresses: ['127.0.0.1'] }))
const studio = await openStudio({ guard: { dnsServers: [names.address] } })
t.teardown(async () => {
  await studio.close()
  await site.close()
  await names.close()
})

/** Font families of each sample. */
async function familiesOfSamples({ browsers }: Studio, samples: readonly Sample[]): Promise<string[][]> {
  const lease = await browsers.lend('default', DEFAULT_CONTEXT, AbortSignal.timeout(60_000))
  const { session, mainFrame } = lease.tab
  await session.send('Page.setDocumentContent', { frameId: mainFrame, html: scriptsPage(samples) })
  await session.send('DOM.enable')
  await session.send('CSS.enable')
  const { root } = await session.send('DOM.getDocument')
  const { nodeIds } = await session.send('DOM.querySelectorAll', { nodeId: root.nodeId, selector: '.sample' })
  const answers = await Promise.all(nodeIds.map((nodeId) => session.send('CSS.getPlatformFontsForNode', { nodeId })))
  await browsers.takeBack(lease, true)
  return answers.map(({ fonts }) => fonts.map(({ familyName }) => familyName))
}

t.test('complaint: emoji and CJK come out as boxes: each script has its own family', async (t) => {
  // A letter without a glyph is drawn as a box by the first family of the page.
  await checkFamilies(t, SAMPLES)
})

t.test(
  'complaint: emoji and CJK come out as boxes: serif text in any script has a serif face, Urdu has Nastaliq, and sans-serif text has neither',
  (t) => checkFamilies(t, FAMILY_SAMPLES),
)

t.test('complaint: emoji and CJK come out as boxes: serif faces work in each kind of tab and in frames of other sites', async (t) => {
  for (const options of [{}, { locale: 'de-DE' }]) {
    const { findings } = await studio.shoot(site.url('/serif'), { ...options, metadataFonts: true })
    t.strictSame(findings.page.fonts, ['Noto Serif CJK JP'], JSON.stringify(options))
  }
  const small = { viewportWidth: 300, viewportHeight: 100 }
  const policy = { ...LOOPBACK_POLICY, rules: { ...LOOPBACK_POLICY.rules, allowedHosts: ['localhost'] } }
  const here = await studio.shoot(site.url('/same-site'), small)
  const there = await studio.shoot(site.url('/other-site'), small, { policy })
  t.ok(here.picture.equals(there.picture), 'an out-of-process frame looks like one of the page’s own')
})

async function checkFamilies(t: Test, samples: readonly Sample[]): Promise<void> {
  // One page per language, because Chromium caches the face of a letter for all languages of a page.
  for (const ofOneLanguage of Map.groupBy(samples, ({ lang }) => lang).values()) {
    const found = await familiesOfSamples(studio, ofOneLanguage)
    t.equal(found.length, ofOneLanguage.length)
    for (const [index, { name, families }] of ofOneLanguage.entries()) {
      const drawnWith = found[index] ?? []
      t.ok(drawnWith.length > 0 && drawnWith.every((family) => families.includes(family)), `${name}: ${drawnWith.join(', ')}`)
    }
  }
}

t.test('complaint: emoji and CJK come out as boxes: emoji have colors, and letters have gray edges without colored fringes', async (t) => {
  const countOf = async (path: string, deviceScaleFactor: number) => {
    const { picture } = await studio.shoot(site.url(path), { fullPage: true, viewportWidth: 400, deviceScaleFactor })
    return countColors(picture)
  }
  for (const scale of [1, 2]) {
    const { colored, shades } = await countOf('/letters', scale)
    t.equal(colored, 0, `no pixel of black text is colored at scale ${scale}`)
    t.ok(shades > 16, `edges are smooth: ${shades} shades`)
  }
  const { colored } = await countOf('/emoji', 1)
  t.ok(colored > 1_000, `emoji are colored: ${colored} pixels`)
})

async function countColors(picture: Buffer): Promise<{ colored: number; shades: number }> {
  const { data, info } = await sharp(picture).removeAlpha().raw().toBuffer({ resolveWithObject: true })
  const shades = new Set<number>()
  let colored = 0
  for (let at = 0; at < data.length; at += info.channels) {
    const [red = 0, green = 0, blue = 0] = data.subarray(at, at + 3)
    if (red === green && green === blue) shades.add(red)
    else colored += 1
  }
  return { colored, shades: shades.size }
}
