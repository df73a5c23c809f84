import { newId } from '@tintype/crds/identifiers/ids'
import { toObjectName } from '@tintype/crds/identifiers/names'
import t from 'tap'
import { medianStages, stagesOf } from '../../bench/stages.ts'

const at = (milliseconds: number): string => new Date(Date.UTC(2026, 0, 1) + milliseconds).toISOString()

const aShot = (claimed: number, processingMilliseconds: number, completed: number) => ({
  metadata: { name: toObjectName(newId('scr', new Date(at(0)))), namespace: 'n', uid: 'u', resourceVersion: '1', creationTimestamp: at(0) },
  status: {
    startTime: at(claimed),
    completionTime: at(completed),
    result: { processingMilliseconds, timings: { navigate: 40, upload: 20 } },
  },
})

t.test('stagesOf splits the time between the id’s timestamp and the end', async (t) => {
  t.strictSame(stagesOf(aShot(10, 100, 130)), {
    'created to claimed': 10,
    'claimed to accepted': 20,
    'in the runner': 100,
    '.navigate': 40,
    '.upload': 20,
    'created to completed': 130,
  })
})

t.test('medianStages keeps the order of the stages', async (t) => {
  const stages = medianStages([aShot(10, 100, 130), aShot(20, 100, 140), aShot(30, 100, 160)])
  t.strictSame(stages[0], ['created to claimed', 20])
  t.strictSame(stages.at(-1), ['created to completed', 140])
})
