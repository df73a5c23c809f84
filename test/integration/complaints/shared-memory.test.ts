// Complaints about containers: the browser fills the 64 MiB of /dev/shm with painted tiles and crashes. Runs in its own namespaces with next to none.

import { execFileSync } from 'node:child_process'
import { statfsSync } from 'node:fs'
import { enterNamespace } from '../../support/processes/in-namespace.ts'
import { servePages } from '../capture-runner/stage/page-server.ts'
import { decode, isNear } from '../capture-runner/stage/pixels.ts'
import { openStudio } from '../capture-runner/stage/studio.ts'

enterNamespace(import.meta.filename, [])
const { default: t } = await import('tap')

const PAGE_KIBIBYTES = 4
execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${PAGE_KIBIBYTES}k`, 'tmpfs', '/dev/shm'])

/** Many large surfaces with different colors. */
const site = await servePages({
  '/surfaces': `<!doctype html><body style="margin:0">${Array.from({ length: 8 }, (_, i) => `<canvas id="c${i}" width="1900" height="1000" style="display:block"></canvas>`).join('')}
    <script>for (let i = 0; i < 8; i++) { const c = document.querySelector('#c' + i).getContext('2d'); c.fillStyle = 'rgb(0,' + i * 30 + ',200)'; c.fillRect(0, 0, 1900, 1000) }</script>`,
})
t.teardown(() => site.close())

t.test('complaint: pages crash for want of shared memory: pages are captured with next to no shared memory', async (t) => {
  const { blocks, bsize } = statfsSync('/dev/shm')
  t.equal(blocks * bsize, PAGE_KIBIBYTES * 1024)
  const studio = await openStudio()
  t.teardown(() => studio.close())
  const shots = [
    await studio.shoot(site.url('/surfaces'), { fullPage: true }),
    await studio.shoot(site.url('/surfaces'), { fullPage: true }),
  ]
  for (const { picture } of shots) {
    const pixels = await decode(picture)
    t.equal(pixels.height, 8_000)
    for (let i = 0; i < 8; i++) t.ok(isNear(pixels.at(900, i * 1_000 + 500), [0, i * 30, 200], 0), `surface ${i}`)
  }
})
