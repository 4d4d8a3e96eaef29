// A phone with the app, for a test: each line that it reads is a tap, and each line that it writes is what the app shows then.
package club.example.frontdesk

import android.content.Context
import android.net.Uri
import android.security.keystore.AndroidKeyStore
import java.io.File
import java.security.Security
import kotlin.system.exitProcess
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.flow.first
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.withContext
import kotlinx.serialization.Serializable
import kotlinx.serialization.encodeToString
import kotlinx.serialization.json.Json

@Serializable data class Screen(
    val registration: Registration?, val problem: Problem?, val shown: String?, val session: Session?, val clubs: List<Club>?, val club: ClubDetails?,
    val offers: List<Offer>?, val days: List<DebitDay>?, val link: String?, val consents: List<Consent>,
)

/** Runs the app. The arguments are the gateway's address and the folder of what the phone stores. */
fun main(args: Array<String>): Unit = runBlocking {
    val (gateway, folder) = args
    Security.addProvider(AndroidKeyStore(File(folder)))
    val context = Context(File(folder))
    val vault = Vault(context)
    val api = Frontdesk(gateway)
    val signup = Signup(vault, api)
    val buyer = Person(
        "Ada", "Martin", "1990-05-17", "ada@example.com", "+33612345678", Address("12 rue des Lilas", "75011", "Paris", "FR"),
    )
    val json = Json { explicitNulls = false }
    while (true) {
        val tap = withContext(Dispatchers.IO) { readlnOrNull() }?.split(' ') ?: exitProcess(0)
        var clubs: List<Club>? = null
        var club: ClubDetails? = null
        var offers: List<Offer>? = null
        var days: List<DebitDay>? = null
        var link: String? = null
        when (tap[0]) {
            "appear" -> launch { signup.open(); signup.followToTheEnd() }
            "open" -> signup.open()
            "clubs" -> clubs = api.clubs()
            "club" -> club = api.club(tap[1])
            "days" -> days = api.debitDays(api.clubs().first().id, tap[1])
            "choose" -> offers = api.products(api.clubs().first().id).flatMap { it.offers }
            "start" -> signup.start(api.clubs().first().id, NewItem(tap[1], tap[2], tap.getOrNull(3)?.let { Debit(it.toInt()) }), buyer)
            "mandate" -> signup.giveMandate("Ada Martin", tap[1])
            "sign" -> signup.sign(tap[1])
            "resend" -> signup.resendCode()
            "link" -> link = signup.resumeLink()
            "consents" -> signup.readConsents()
            "consent" -> signup.setConsents(listOf(ConsentWish(tap[1], tap[2].toBoolean())), "app-1")
            "resume" -> signup.resume(Uri.parse(tap[1]))
            "pay" -> signup.pay(context, api.documents(api.clubs().first().id))
            "page" -> signup.showPaymentPage(context)
            "await" -> signup.registration.first { it?.step == tap[1] || it?.payment?.state == tap[1] }
            else -> error("unknown tap $tap")
        }
        val session = vault.read("session")?.let { json.decodeFromString<Session>(it) }
        val screen = Screen(
            signup.registration.value, signup.problem.value, context.shown, session, clubs, club, offers, days, link, signup.consents.value,
        )
        println(json.encodeToString(screen))
    }
}
