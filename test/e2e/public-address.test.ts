import t from 'tap'
import { capture, download } from '../support/cluster/api-client.ts'
import { createPool, idleRunners } from '../support/cluster/pools.ts'
import { foreignNode } from '../support/cluster/program.ts'
import { startPublicSite } from '../support/cluster/public-site.ts'
import { captureWith, fileOf } from '../support/cluster/screenshots.ts'
import { decode, isNear } from '../support/picture.ts'

// The path of customers' captures: a site on a public address, with rules that open no private addresses. The test runs the site in the
// node's network, on an address that nothing else uses there.

t.setTimeout(300_000)
if (foreignNode) t.plan(0, foreignNode)
else await main().catch((error: unknown) => t.threw(error))

async function main(): Promise<void> {
  const address = '203.0.114.20'
  const extraCaBundle = await startPublicSite(t, address)
  const [closed, trusting, unjailed] = await Promise.all([
    createPool(t, 'public', { egress: {} }),
    createPool(t, 'trusting', { egress: { extraCaBundle } }),
    // Without the seccomp profile there is no jail, and the browser uses the runner's home directory.
    createPool(t, 'unjailed', { egress: { extraCaBundle }, sandbox: { mode: 'auto' } }),
  ])
  await Promise.all([closed, trusting, unjailed].map((pool) => idleRunners(pool)))

  const corners = async (file: Buffer): Promise<boolean> => {
    const picture = await decode(file)
    const wanted: [number, number, number[]][] = [
      [5, 5, [255, 0, 0]],
      [395, 5, [0, 255, 0]],
      [5, 295, [0, 0, 255]],
      [395, 295, [255, 255, 0]],
    ]
    return wanted.every(([x, y, color]) => isNear(picture.at(x, y), color))
  }
  const options = { viewportWidth: 400, viewportHeight: 300 }

  t.test('a site on a public address is captured over http without egress rules', async (t) => {
    const shot = await captureWith(t, { url: `http://${address}/quadrants`, poolName: closed, options })
    t.match(shot.status, { phase: 'Completed', result: { httpStatus: 200, finalUrl: `http://${address}/quadrants` } })
    t.ok(await corners(await fileOf(shot.metadata.name)), 'the picture shows the page')
  })

  t.test('a site on a public address is captured through the API by the default pool', async (t) => {
    const record = await capture(`http://${address}/quadrants`, { viewport_width: 400, viewport_height: 300 })
    t.equal(record.status, 'completed', JSON.stringify(record.error))
    t.ok(await corners(await download(record)), 'the picture shows the page')
  })

  for (const { name, poolName } of [
    { name: 'in its jail', poolName: trusting },
    { name: 'without a jail', poolName: unjailed },
  ]) {
    t.test(`a site on a public address is captured over https by a browser ${name} whose pool trusts its authority`, async (t) => {
      const shot = await captureWith(t, { url: `https://${address}/quadrants`, poolName, options })
      t.match(shot.status, { phase: 'Completed', result: { httpStatus: 200, finalUrl: `https://${address}/quadrants` } })
      t.ok(await corners(await fileOf(shot.metadata.name)), 'the picture shows the page')
    })
  }

  t.test('a site fails with TLS_ERROR if the pool does not trust its certificate authority', async (t) => {
    const shot = await captureWith(t, { url: `https://${address}/quadrants`, poolName: closed, options })
    t.match(shot.status, { phase: 'Failed', result: { error: { code: 'TLS_ERROR' } } })
  })

  t.test('a page on a public address loads linked resources from there', async (t) => {
    const shot = await captureWith(t, { url: `http://${address}/csp`, poolName: closed, options })
    t.ok(isNear((await decode(await fileOf(shot.metadata.name))).at(200, 150), [0x33, 0x66, 0x99]), 'its style sheet was loaded')
  })
}
