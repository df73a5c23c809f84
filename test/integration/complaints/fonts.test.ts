import sharp from 'sharp'
import t from 'tap'
import { DEFAULT_CONTEXT } from '../../../capture-runner/src/plan.ts'
import { SAMPLES, type Sample, scriptsPage } from '../../support/scripts-page.ts'
import { servePages } from '../capture-runner/page-server.ts'
import { openStudio, type Studio } from '../capture-runner/studio.ts'

// The browser works with the image's own fonts.conf (capture-runner/fonts) and the same Debian packages, which `npm test` installs before it runs.

/** A page of nothing but samples, black on white. */
const plainPage = (samples: readonly Sample[]): string => {
  const rows = samples.map(({ lang, text }) => `<p lang="${lang}">${text}`)
  return `<!doctype html><meta charset="utf-8"><body style="margin:8px;background:#fff;color:#000;font-size:20px">${rows.join('')}`
}

const isEmoji = ({ name }: Sample): boolean => name === 'Emoji'
const site = await servePages({
  '/letters': plainPage(SAMPLES.filter((one) => !isEmoji(one))),
  '/emoji': plainPage(SAMPLES.filter(isEmoji)),
})
const studio = await openStudio()
t.teardown(async () => {
  await studio.close()
  await site.close()
})

/** The families that each sample of the page is drawn with. */
async function familiesOfSamples({ browsers }: Studio): Promise<string[][]> {
  const lease = await browsers.lend('default', DEFAULT_CONTEXT, AbortSignal.timeout(60_000))
  const { session, mainFrame } = lease.tab
  await session.send('Page.setDocumentContent', { frameId: mainFrame, html: scriptsPage() })
  await session.send('DOM.enable')
  await session.send('CSS.enable')
  const { root } = await session.send('DOM.getDocument')
  const { nodeIds } = await session.send('DOM.querySelectorAll', { nodeId: root.nodeId, selector: '.sample' })
  const answers = await Promise.all(nodeIds.map((nodeId) => session.send('CSS.getPlatformFontsForNode', { nodeId })))
  await browsers.takeBack(lease, true)
  return answers.map(({ fonts }) => fonts.map(({ familyName }) => familyName))
}

t.test(
  'complaint: emoji and CJK come out as boxes: each script has a face of its own, and no letter is left to the first one',
  async (t) => {
    // A letter that no face has is drawn by the first family of the page, as a box.
    const found = await familiesOfSamples(studio)
    t.equal(found.length, SAMPLES.length)
    for (const [index, { name, families }] of SAMPLES.entries()) {
      const drawnWith = found[index] ?? []
      t.ok(drawnWith.length > 0 && drawnWith.every((family) => families.includes(family)), `${name}: ${drawnWith.join(', ')}`)
    }
  },
)

t.test(
  'complaint: emoji and CJK come out as boxes: emoji have colours, and letters have grey edges without coloured fringes',
  async (t) => {
    const countOf = async (path: string, deviceScaleFactor: number) => {
      const { picture } = await studio.shoot(site.url(path), { fullPage: true, viewportWidth: 400, deviceScaleFactor })
      return countColours(picture)
    }
    for (const scale of [1, 2]) {
      const { coloured, shades } = await countOf('/letters', scale)
      t.equal(coloured, 0, `no pixel of black text is coloured at scale ${scale}`)
      t.ok(shades > 16, `edges are smooth: ${shades} shades`)
    }
    const { coloured } = await countOf('/emoji', 1)
    t.ok(coloured > 1_000, `emoji are coloured: ${coloured} pixels`)
  },
)

async function countColours(picture: Buffer): Promise<{ coloured: number; shades: number }> {
  const { data, info } = await sharp(picture).removeAlpha().raw().toBuffer({ resolveWithObject: true })
  const shades = new Set<number>()
  let coloured = 0
  for (let at = 0; at < data.length; at += info.channels) {
    const [red = 0, green = 0, blue = 0] = data.subarray(at, at + 3)
    if (red === green && green === blue) shades.add(red)
    else coloured += 1
  }
  return { coloured, shades: shades.size }
}
