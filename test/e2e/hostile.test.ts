import t from 'tap'
import { screenshotIdOf } from '../../crds/src/identifiers/ids.ts'
import { toObjectName } from '../../crds/src/identifiers/names.ts'
import type { Screenshot } from '../../crds/src/kinds/screenshot.ts'
import { captureHostilePage, HOSTILE_CASES } from '../support/attack/hostile.ts'
import { startHostileStage } from '../support/attack/hostile-stage.ts'
import { listenInPod } from '../support/attack/pod-network.ts'
import { readyRunners } from '../support/cluster/pools.ts'
import { foreignNode } from '../support/cluster/program.ts'
import { fileOf } from '../support/cluster/screenshots.ts'
import { eventually } from '../support/eventually.ts'
import { decode, isNear } from '../support/picture.ts'

// Pages that try to block a runner or exhaust its resources. One pod captures all of them, with an ordinary page after each.

t.setTimeout(590_000)
if (foreignNode) t.plan(0, foreignNode)
else await main().catch((error: unknown) => t.threw(error))

/** The picture of a Screenshot whose object name differs from its id. */
const pictureOf = ({ metadata }: Screenshot) => fileOf(toObjectName(screenshotIdOf(metadata)))

/** Allowed growth of an idle pod's memory in MiB: heaps grow with their work. */
const GROWTH = 200

async function main(): Promise<void> {
  const { pod, take, measure } = await startHostileStage(t)
  const arrivals = await listenInPod(t, pod.name, 8099)
  await take('/quadrants', {})
  const before = await eventually(
    'two browsers are running',
    async () => {
      const state = await measure()
      return state.browsers === 2 && state
    },
    60_000,
  )

  for (const hostile of HOSTILE_CASES) {
    t.test(`a capture of ${hostile.name} ends in a clear record, and the next one on the same pod is right`, async (t) => {
      const { outcome, seconds, shot, next, nextStart, nextEnd, isSamePod } = await captureHostilePage(take, hostile)
      t.comment(`ended after ${seconds.toFixed(1)} s; the next one was claimed after ${nextStart} ms, and done after ${nextEnd} ms`)
      t.ok(hostile.ends.includes(outcome), outcome, { seen: shot.status?.result })
      if (outcome === 'Completed' && !hostile.path.startsWith('/tall'))
        t.ok(isNear((await decode(await pictureOf(shot))).at(290, 190), [0, 255, 0]), 'the picture shows the page')
      t.ok(outcome === 'Completed' || (shot.status?.result?.error?.message ?? '').length > 10, 'or the record has a reason')
      t.equal(next.status?.phase, 'Completed')
      const picture = await decode(await pictureOf(next))
      t.ok(isNear(picture.at(5, 5), [255, 0, 0]) && isNear(picture.at(295, 195), [255, 255, 0]), 'the next picture is right')
      t.ok(isSamePod && shot.status?.runner?.uid === pod.uid, 'one pod captured both')
    })
  }

  t.test('no page reached a private address', async (t) => t.strictSame(arrivals, []))

  t.test('afterwards the same pod is idle with two browsers, no zombie processes and its memory released', async (t) => {
    const after = await eventually(
      'it rests',
      async () => {
        const state = await measure()
        return state.browsers === 2 && state.zombies === 0 && state.mebibytes <= before.mebibytes + GROWTH && state
      },
      60_000,
    ).catch(async () => measure())
    t.comment(JSON.stringify({ before, after }))
    t.ok(after.mebibytes <= before.mebibytes + GROWTH, `${before.mebibytes} MiB, then ${after.mebibytes} MiB`)
    t.match(after, { browsers: 2, zombies: 0 })
    t.match(await readyRunners(pod.name.replace(/-\d+$/, '')), [{ uid: pod.uid }])
  })
}
