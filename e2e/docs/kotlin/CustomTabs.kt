package androidx.browser.customtabs

import android.content.Context
import android.net.Uri

class CustomTabsIntent private constructor() {
    fun launchUrl(context: Context, url: Uri) {
        context.shown = url.toString()
    }

    class Builder {
        fun build() = CustomTabsIntent()
    }
}
