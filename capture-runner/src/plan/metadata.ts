import type { EffectiveOptions } from '@tintype/crds/options/catalogue'

/** What may be noted of a page beyond what always is. */
export type Note =
  | 'redirects'
  | 'responseHeaders'
  | 'imageSize'
  | 'openGraph'
  | 'icon'
  | 'fonts'
  | 'timings'
  | 'contentHash'
  | 'palette'
  | 'links'
  | 'blockedRequests'

/** Tells what the record tells of the page. */
export interface MetadataPlan {
  notes: ReadonlySet<Note>
}

/** Works out what the record tells of the page. */
export function buildMetadata(options: EffectiveOptions): MetadataPlan {
  const wanted: Record<Note, boolean> = {
    redirects: options.metadataFinalUrl,
    responseHeaders: options.metadataHttpResponseHeaders,
    imageSize: options.metadataImageSize,
    openGraph: options.metadataOpenGraph,
    icon: options.metadataIcon,
    fonts: options.metadataFonts,
    timings: options.metadataTimings,
    contentHash: options.metadataContentHash,
    palette: options.metadataPalette,
    links: options.metadataLinks,
    blockedRequests: options.metadataBlockedRequests,
  }
  const names = Object.entries(wanted).flatMap(([name, isWanted]) => (isWanted ? [name as Note] : []))
  return { notes: new Set(names) }
}
