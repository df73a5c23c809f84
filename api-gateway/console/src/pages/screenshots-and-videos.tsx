import type { Collection } from '../api/client.ts'
import { CaptureList } from '../list/capture-list.tsx'
import { RecordPage } from '../record/record-page.tsx'
import type { Page } from '../routing/router.ts'

const pageOf =
  (collection: Collection): Page =>
  ({ session, parts: [id], query }) =>
    id === undefined ? (
      <CaptureList collection={collection} query={query} />
    ) : (
      <RecordPage collection={collection} id={id} session={session} />
    )

export const Screenshots = pageOf('screenshots')
export const Videos = pageOf('videos')
